// Package trust holds the two programs and the runtime to what docs/trust.md promises under faults and load: builds
// that are killed, calls of the system that fail, disks that are full, sites and snapshots that change meanwhile. There
// is nothing here but tests; in the long form, trust/long, they go on for as long as one likes.
package trust
