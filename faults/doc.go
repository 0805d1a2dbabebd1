// Package faults tests the promises of docs/trust.md under faults and load: killed builds, failing system calls, full
// disks, and sites and snapshots that change while they are read. It contains only tests. The script faults/long runs
// them for a given time.
package faults
