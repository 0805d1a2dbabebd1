package cli

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bindc/diag"
)

// lastOfSeveral is the value of a flag that takes one value. It notices if the command line gives a different one
// before, which has no effect. That is no error, because an alias may contain the flag.
type lastOfSeveral struct {
	pflag.Value
	given    bool
	replaced string // the text that another one replaced, or ""
}

func (l *lastOfSeveral) Set(text string) error {
	before := l.String()
	if err := l.Value.Set(text); err != nil {
		return err
	}
	if l.given && before != l.String() {
		l.replaced = before
	}
	l.given = true
	return nil
}

// watchRepeats makes the flags that take one value a lastOfSeveral.
func watchRepeats(flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		_, isList := f.Value.(pflag.SliceValue)
		_, watched := f.Value.(*lastOfSeveral)
		if !isList && !watched && f.NoOptDefVal == "" {
			f.Value = &lastOfSeveral{Value: f.Value}
		}
	})
}

// noteRepeats prints a note about each flag whose first value has no effect.
func noteRepeats(cmd *cobra.Command) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if l, watched := f.Value.(*lastOfSeveral); watched && l.replaced != "" {
			text := fmt.Sprintf("%s: note: --%s is given more than once: '%s' counts, '%s' does not", cmd.Root().Name(),
				f.Name, l.String(), l.replaced)
			fmt.Fprintln(cmd.ErrOrStderr(), diag.Visible(text))
		}
	})
}
