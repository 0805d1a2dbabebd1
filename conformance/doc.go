// Package conformance compares the complete programs, from YAML to a lookup, with answers from other implementations:
// the reference implementation (testdata/conformance/reference.json), real Puppet (expressions.json), Ruby's Psych
// (psych_scalars.json) and real sites (../shared/corpora, if present). It contains only tests. Package hiera5 below
// it generates random Hiera 5 sites; Puppet's answers for them are stored in hiera5.jsonl.gz.
package conformance
