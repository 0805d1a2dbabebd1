// Package browser tests the pages of bindc explore in chromium. It is a module of its own, because a browser's protocol
// is not a dependency of the product.
package browser
