package stdlib

import "bindc/internal/expr"

// call is a call of one of the functions in this package.
type call = expr.Invocation
