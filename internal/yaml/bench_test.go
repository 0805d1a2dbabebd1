package yaml

import (
	"fmt"
	"strings"
	"testing"

	"bindc/diag"
)

// hieraData returns the text of a data file with n keys. Their values are scalars, lists and hashes.
func hieraData(n int) []byte {
	var b strings.Builder
	for i := range n {
		switch i % 4 {
		case 0:
			fmt.Fprintf(&b, "module%d::class::param_%d: 'some value %d'\n", i%97, i, i)
		case 1:
			fmt.Fprintf(&b, "# comment\nmodule%d::class::port_%d: %d\n", i%97, i, i)
		case 2:
			fmt.Fprintf(&b, "module%d::class::list_%d:\n  - one.example.com\n  - \"${::fqdn}\"\n", i%97, i)
		case 3:
			fmt.Fprintf(&b, "module%d::class::hash_%d:\n  ensure: present\n  version: 1.2.%d\n", i%97, i, i)
		}
	}
	return []byte(b.String())
}

func benchmark(b *testing.B, src []byte, parse func(string, []byte, Options, *diag.List) (*Document, bool)) {
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		var diags diag.List
		if _, ok := parse("f", src, Options{}, &diags); !ok {
			b.Fatal(summary(&diags))
		}
	}
}

func BenchmarkParse(b *testing.B) {
	for _, n := range []int{1_000, 50_000} {
		b.Run(fmt.Sprintf("keys=%d", n), func(b *testing.B) { benchmark(b, hieraData(n), Parse) })
	}
}

func BenchmarkParseJSON(b *testing.B) {
	for _, n := range []int{1_000, 50_000} {
		var src strings.Builder
		for i := range n {
			fmt.Fprintf(&src, `"module%d::class::param_%d": {"a": ["some value %d", %d, true]},`, i%97, i, i, i)
		}
		text := []byte("{" + strings.TrimSuffix(src.String(), ",") + "}")
		b.Run(fmt.Sprintf("keys=%d", n), func(b *testing.B) { benchmark(b, text, ParseJSON) })
	}
}

func BenchmarkResolve(b *testing.B) {
	texts := []string{"some::value", "yes", "10.0.0.1", "8080", "0644", "present", "12:30", "1.5", "-x", "${::fqdn}"}
	b.ReportAllocs()
	for b.Loop() {
		for _, text := range texts {
			if _, problem := resolve(text); problem != noFault {
				b.Fatal(text)
			}
		}
	}
}
