// Serving compares bindq serve with a Redis server that has the same values. Clients request a
// thousand keys at a time over a Unix socket.
//
//	go run ./cmd/serving                  redis-server has to be in PATH
//	go run ./cmd/serving -size M -turn 2s -rounds 5
//
// The values in Redis are computed in advance: a JSON string for each node and key. A request to Redis
// is a single MGET. A request to bindq is a single question 'keys'; in the row with new sessions, it
// also contains the node's facts. Clients read answers, whose length they know, without parsing them.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"bindc/bench/built"
	"bindc/bench/gen"
)

func main() {
	size := flag.String("size", "M", "`size` of the site")
	keys := flag.Int("keys", 1000, "`N` keys per request")
	turn := flag.Duration("turn", 2*time.Second, "length of a turn")
	rounds := flag.Int("rounds", 3, "turns of each row, alternating")
	flag.Parse()
	if err := run(*size, *keys, *turn, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "serving:", err)
		os.Exit(1)
	}
}

// clients lists the numbers of concurrent clients to measure. Each client asks for a different
// node.
var clients = []int{1, 16, 255} // bindq serve allows 256 connections, and prepare uses one of them

func run(size string, keys int, turn time.Duration, rounds int) error {
	site, err := built.Get(gen.Sizes[size])
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "serving-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	bindq := filepath.Join(dir, "bindq")
	if err := built.Program("bindc", "./cmd/bindq", bindq); err != nil {
		return err
	}
	ours, err := start(filepath.Join(dir, "bindq.sock"), bindq, "serve", "-s", site.Snapshot, "--listen",
		"unix:"+filepath.Join(dir, "bindq.sock"))
	if err != nil {
		return err
	}
	defer ours.stop()
	redis, err := start(filepath.Join(dir, "redis.sock"), "redis-server", "--port", "0", "--unixsocket",
		filepath.Join(dir, "redis.sock"), "--save", "", "--dir", dir)
	if err != nil {
		return err
	}
	defer redis.stop()
	visitors, err := prepare(site, keys, slices.Max(clients), ours, redis)
	if err != nil {
		return err
	}
	rows := []row{
		{"bindq serve", ours, func(v *visitor) talk { return v.keys }},
		{"bindq serve, new session", ours, func(v *visitor) talk { return v.session }},
		{"redis-server, MGET", redis, func(v *visitor) talk { return v.mget }},
	}
	fmt.Printf("| %d keys per request | clients | requests per second | p99 | answers per second of its processor time |\n"+
		"|---|---|---|---|---|\n", keys)
	for _, n := range clients {
		results := make([][]result, len(rows))
		for range rounds {
			for i, r := range rows {
				one, err := r.measure(visitors[:n], turn)
				if err != nil {
					return fmt.Errorf("%s, %d clients: %w", r.name, n, err)
				}
				results[i] = append(results[i], one)
			}
		}
		for i, r := range rows {
			m := median(results[i])
			fmt.Printf("| %s | %d | %.0f | %v | %.2f million |\n", r.name, n, m.rate, m.p99.Round(10*time.Microsecond),
				m.rate*float64(keys)/m.cores/1e6)
		}
	}
	return nil
}
