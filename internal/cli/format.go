package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

var Forms = []string{"text", "json", "yaml"}

// AddFormat adds the flag --format, which sets form to one of forms. Without the flag, form keeps
// its value.
func AddFormat(cmd *cobra.Command, form *string, forms []string) {
	AddForms(cmd, "format", "`FORM` of the output: "+strings.Join(forms, ", "), forms,
		func(i int) { *form = forms[i] }, func() string { return *form })
}

// AddForms adds a flag whose value must be one of words. It calls set with the index of that word.
// get returns the default for help.
func AddForms(cmd *cobra.Command, flag, usage string, words []string, set func(i int), get func() string) {
	cmd.Flags().Var(&formValue{words, set, get}, flag, usage)
	Words(cmd, flag, words)
}

// formValue implements pflag.Value for AddForms.
type formValue struct {
	words []string
	set   func(i int)
	get   func() string
}

func (f *formValue) Set(text string) error {
	i := slices.Index(f.words, text)
	if i < 0 {
		return fmt.Errorf("expected one of %s", strings.Join(f.words, ", "))
	}
	f.set(i)
	return nil
}

func (f *formValue) String() string {
	if f.get == nil {
		return ""
	}
	return f.get()
}

// Type returns the placeholder for the value in help.
func (f *formValue) Type() string { return "FORM" }
