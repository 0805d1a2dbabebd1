package stdlib

import "bindc/internal/expr"

// call is one call of a function of this package.
type call = expr.Invocation
