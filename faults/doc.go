// Package faults tests what docs/trust.md promises under faults and load: killed builds, failing system calls, full
// disks, and sites and snapshots that change meanwhile. It contains only tests. The script faults/long runs them for as
// long as asked.
package faults
