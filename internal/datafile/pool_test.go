package datafile

import (
	"fmt"
	"slices"
	"sync"
	"testing"
)

// The pool searches the first batches without its table. The numbers must not change when it builds the table.
func TestNumbersStayTheSameWhenTableIsBuilt(t *testing.T) {
	var p Pool
	p.load([]string{"a", "bc", "d"})
	for round := range 2 * maxScans {
		b := &batch{}
		for _, text := range []string{"bc", "new", "a", "new", fmt.Sprint("round ", round)} {
			b.add(func(dst []byte) []byte { return append(dst, text...) })
		}
		want := []uint32{1, 3, 0, 3, uint32(4 + round)}
		if got := p.numbered(b); !slices.Equal(got, want) {
			t.Fatalf("round %d: got %d, want %d", round, got, want)
		}
	}
}

func TestConcurrentCallsGiveEqualStringsSameNumber(t *testing.T) {
	var p Pool
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for i := range 20_000 {
				p.Number([]byte(fmt.Sprint("text ", i%5_000)))
			}
		})
	}
	p.Number(make([]byte, 2*chunkSize))
	workers.Wait()
	texts := p.Texts()
	if len(texts) != 5_001 {
		t.Fatalf("got %d texts, want 5001", len(texts))
	}
	for i, text := range texts {
		if n := p.Number([]byte(text)); n != uint32(i) {
			t.Errorf("%.20q has the numbers %d and %d", text, i, n)
		}
	}
}
