package main

import (
	"fmt"
	"strconv"
	"strings"
)

// fillers is the number of keys in a small site in addition to release and again.
const fillers = 20

// small writes a site that binds release and again to n, and all other keys to filling. If missing
// is given, the first of its keys is left out.
func (w *way) small(name string, n int, filling string, missing ...string) (dir string, err error) {
	var data strings.Builder
	for _, key := range []string{"release", "again"} {
		if len(missing) == 0 || missing[0] != key {
			fmt.Fprintf(&data, "%s: %d\n", key, n)
		}
	}
	for i := range fillers {
		fmt.Fprintf(&data, "filler%d: %s\n", i, filling)
	}
	if err := w.write(name+"/hiera.yaml", "version: 2\nhierarchy: [[common, 'true', data/common]]\n"); err != nil {
		return "", err
	}
	return w.path(name), w.write(name+"/data/common.yaml", data.String())
}

// first is the signing time of release 0, as a Unix time. Each release is a minute later than the
// previous one.
const first = 1_800_000_000

// build builds release n of a site, signs it and returns the path of the snapshot. The last
// arguments are further flags of bindc build.
func (w *way) build(site string, n int, what ...string) (string, error) {
	out := w.path("release" + strconv.Itoa(n) + ".snap")
	args := append([]string{"build", site, "-o", out, "--cache", w.path("cache"), "--name", "production", "--revision",
		"r" + strconv.Itoa(n), "--sign", w.path("deploy")}, what...)
	_, err := w.run([]string{"SOURCE_DATE_EPOCH=" + strconv.Itoa(first+60*n)}, "bindc", args...)
	return out, err
}
