package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	"bindc/serve/client"
)

// row is a server and the messages that its clients send.
type row struct {
	name   string
	server *server
	talk   func(*visitor) talk
}

type result struct {
	rate  float64 // requests per second
	p99   time.Duration
	cores float64 // CPU seconds of the server per second
}

// measure lets all visitors send requests for one turn. Each visitor sends a request when it has
// received the answer to the previous one.
func (r row) measure(visitors []*visitor, turn time.Duration) (result, error) {
	conns := make([]net.Conn, len(visitors))
	for i, v := range visitors {
		c, err := r.connect(r.talk(v))
		if err != nil {
			return result{}, err
		}
		defer c.Close()
		conns[i] = c
	}
	before, err := r.server.used()
	if err != nil {
		return result{}, err
	}
	begun := time.Now()
	took, errs := make([][]time.Duration, len(visitors)), make([]error, len(visitors))
	var all sync.WaitGroup
	for i, v := range visitors {
		all.Go(func() { took[i], errs[i] = askUntil(conns[i], r.talk(v), begun.Add(turn)) })
	}
	all.Wait()
	wall := time.Since(begun)
	after, err := r.server.used()
	if err := errors.Join(append(errs, err)...); err != nil {
		return result{}, err
	}
	times := slices.Concat(took...)
	slices.Sort(times)
	return result{float64(len(times)) / wall.Seconds(), times[len(times)*99/100],
		(after - before).Seconds() / wall.Seconds()}, nil
}

// connect opens a connection to the server. If t.before is set, it sends it and reads the two
// answers.
func (r row) connect(t talk) (net.Conn, error) {
	c, err := net.Dial("unix", r.server.socket)
	if err != nil || t.before == nil {
		return c, err
	}
	if _, err = c.Write(t.before); err == nil {
		answers := client.New(c, c)
		if _, err = answers.Receive(); err == nil {
			_, err = answers.Receive()
		}
	}
	return c, err
}

// askUntil sends requests until end, and returns the time that each answer took. It reads t.answer
// bytes for each answer; the last byte shows whether that is the whole answer.
func askUntil(c net.Conn, t talk, end time.Time) (took []time.Duration, err error) {
	buf := make([]byte, t.answer)
	for time.Now().Before(end) {
		begun := time.Now()
		if _, err := c.Write(t.ask); err != nil {
			return nil, err
		}
		if _, err := io.ReadFull(c, buf); err != nil {
			return nil, err
		}
		took = append(took, time.Since(begun))
		if last := buf[len(buf)-1]; last != '}' && last != '\n' {
			return nil, fmt.Errorf("an answer ends with %q", buf[max(0, len(buf)-40):])
		}
	}
	return took, nil
}

// median returns the median of each field. For cores, it uses the median of cores per request.
func median(results []result) (m result) {
	rates, p99, cores := make([]float64, 0), make([]time.Duration, 0), make([]float64, 0)
	for _, r := range results {
		rates, p99, cores = append(rates, r.rate), append(p99, r.p99), append(cores, r.cores/r.rate)
	}
	slices.Sort(rates)
	slices.Sort(p99)
	slices.Sort(cores)
	middle := len(results) / 2
	return result{rates[middle], p99[middle], cores[middle] * rates[middle]}
}
