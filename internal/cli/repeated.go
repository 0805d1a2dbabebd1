package cli

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// lastOfSeveral is the value of a flag that takes one value. It notices if the command line gives several different
// ones, of which only the last counts. A shell alias may contain the flag, so this gets a note and not an error.
type lastOfSeveral struct {
	pflag.Value
	given, replaced bool
}

func (l *lastOfSeveral) Set(text string) error {
	before := l.String()
	if err := l.Value.Set(text); err != nil {
		return err
	}
	l.replaced = l.replaced || l.given && before != l.String()
	l.given = true
	return nil
}

// watchRepeats makes the flags that take one value a lastOfSeveral.
func watchRepeats(flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		_, isList := f.Value.(pflag.SliceValue)
		_, watched := f.Value.(*lastOfSeveral)
		if !isList && !watched && f.NoOptDefVal == "" {
			if f.DefValue == "0s" { // pflag omits a zero default, but does not recognise a wrapped duration
				f.DefValue = "0"
			}
			f.Value = &lastOfSeveral{Value: f.Value}
		}
	})
}

// noteRepeats prints a note about each flag whose first value has no effect.
func noteRepeats(cmd *cobra.Command) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if l, watched := f.Value.(*lastOfSeveral); watched && l.replaced {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: note: --%s is given more than once; only the last one counts\n",
				cmd.Root().Name(), f.Name) // the values may contain a password
		}
	})
}
