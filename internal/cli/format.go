package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Forms lists the formats of reports.
var Forms = []string{"text", "json", "yaml"}

// AddFormat adds --format to a verb. The flag sets form to one of forms; without it, form keeps its value.
func AddFormat(cmd *cobra.Command, form *string, forms []string) {
	AddForms(cmd, "format", "`FORM` of the output: "+strings.Join(forms, ", "), forms,
		func(i int) { *form = forms[i] }, func() string { return *form })
}

// AddForms adds a flag that accepts the given words. It calls set with the index of the word.
func AddForms(cmd *cobra.Command, flag, usage string, words []string, set func(i int), get func() string) {
	cmd.Flags().Var(&formValue{words, set, get}, flag, usage)
	Words(cmd, flag, words)
}

// formValue is the value of a flag that accepts some words.
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

// Type returns the placeholder that help shows for the value.
func (f *formValue) Type() string { return "FORM" }
