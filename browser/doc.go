// Package browser tests the pages of bindc explore in chromium. It is a separate module, so that
// the product does not depend on the protocol of a browser.
package browser
