// Package browser tests the pages of bindc explore in chromium. It is a separate module, so that
// the product does not depend on the protocol of a browser. For the same reason, it starts bindc
// itself instead of sharing a helper with the tests of package conformance.
package browser
