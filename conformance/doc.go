// Package conformance holds the whole line, from YAML to a lookup, to answers that others gave: the reference
// implementation (testdata/conformance/reference.json), real Puppet (expressions.json), Ruby's Psych
// (psych_scalars.json) and real sites (../shared/corpora, where that is present). There is nothing here but tests;
// package hiera5 below makes random sites of Hiera 5, for which Puppet's answers are kept (hiera5.jsonl.gz).
package conformance
