// Package conformance contains only tests. They compile sites and compare lookups with expected
// results from the reference implementation (testdata/conformance/reference.json), from Puppet
// (expressions.json), from Ruby's Psych (psych_scalars.json) and from real sites
// (../shared/corpora, if it exists). Its package hiera5 generates random Hiera 5 sites; Puppet's
// answers for them are in hiera5.jsonl.gz.
package conformance
