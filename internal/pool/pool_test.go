package pool

import (
	"fmt"
	"sync"
	"testing"
)

func TestEqualTextsHaveOneNumber(t *testing.T) {
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
