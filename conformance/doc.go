// Package conformance compares the programs, from YAML to a lookup, with answers from other sources: the reference
// implementation (testdata/conformance/reference.json), real Puppet (expressions.json), Ruby's Psych
// (psych_scalars.json) and real sites (../shared/corpora, if it exists). It contains only tests. Package hiera5 below
// it creates random sites of Hiera 5, with stored answers of Puppet (hiera5.jsonl.gz).
package conformance
