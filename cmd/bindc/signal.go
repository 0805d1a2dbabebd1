package main

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// stopped has signals end the program between two files that it writes, so that none of them is left half written. A
// file that is being written is finished first, and what is written is whole. The status is that of a program which a
// signal ends, in a shell: 128 and its number.
func stopped(writing *sync.Mutex) {
	signals := make(chan os.Signal, 1)
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM} {
		if !signal.Ignored(s) { // as nohup has it
			signal.Notify(signals, s)
		}
	}
	go func() {
		number := (<-signals).(syscall.Signal)
		writing.Lock()
		os.Exit(128 + int(number))
	}()
}
