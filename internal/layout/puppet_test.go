package layout

import (
	"testing"

	"bindc/diag"
)

func TestFormatsPuppetSyntax(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"bindings x {}", "bindings x {}\n"},
		{"bindings   x\n{\n}", "bindings x\n{}\n"},
		{"\n\n# top\n\n\nbindings x { # one\n\n\n\n# two\nbind 'a' to 1 # three\n  bind 'bcd'   to   -1  /* four */\n# five\n}\n# six",
			"# top\n\nbindings x {  # one\n  # two\n  bind 'a' to 1     # three\n  bind 'bcd' to -1  /* four */\n  # five\n}\n# six\n"},
		{"bindings x { bind 'a' to 1 bind 'b' to 2 when a b or c [d,e]{bind 'c' to $x[1]}include [a,b] }",
			"bindings x {\n  bind 'a' to 1\n  bind 'b' to 2\n  when a b or c [d, e] {\n    bind 'c' to $x[1]\n  }\n  include [a, b]\n}\n"},
		{"bindings x { bind 'a'\nto { b=>1,\nc => [1,\n2 ,\n],}\n in 'x' {transformer=>|$x,$y=1|{$x+-$y*2}}\n}",
			"bindings x {\n  bind 'a'\n    to { b => 1,\n      c => [1,\n        2,\n      ], }\n    in 'x' { transformer => |$x, $y = 1| { $x + -$y * 2 } }\n}\n"},
		{"bindings x {\n  bind 'h' to @(\"END\"/L) bind 'b' to 2 # c\n    text ${a} \\\n  # no comment\n    | END\n\n\n  bind 'i' to @(A)+@(B) in 'm'\n  a\n  A\n  b\n  B\n}",
			"bindings x {\n  bind 'h' to @(\"END\"/L)\n    text ${a} \\\n  # no comment\n    | END\n  bind 'b' to 2  # c\n\n  bind 'i' to @(A) + @(B) in 'm'\n  a\n  A\n  b\n  B\n}\n"},
		{"bindings x { bind 'q' to Sql[??name=='one' and !(b>1)] bind 's' to 'two\n  lines' bind 'c' to if $a{1}else{(2)} bind 'd' to f( 1 ).g }", ""},
		{"bindings x { bind 'a' to [ # first\n 1, # second\n # third\n ] }", "bindings x {\n  bind 'a' to [  # first\n    1,           # second\n    # third\n  ]\n}\n"},
		{"bindings x { bind /* the key */ 'a' /* and\n its value */ to 1 bind 'b' to case $x { 1,2 : { 3 } default:{4} } bind 'c' to $x ? {a=>1} }", ""},
	} {
		var diags diag.List
		out, ok := Puppet("f", []byte(c.src), &diags)
		if c.want == "" {
			t.Logf("%s", out)
		} else if string(out) != c.want {
			t.Errorf("%s\n got\n%s\nwant\n%s", c.src, out, c.want)
		}
		if !ok {
			t.Errorf("%s: %v", c.src, diags.Sorted())
			continue
		}
		if again, ok := Puppet("f", out, &diags); !ok || string(again) != string(out) {
			t.Errorf("%s\nis formatted again as\n%s%v", out, again, diags.Sorted())
		}
	}
}

func TestFormatsEnvironmentsFile(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"", ""},
		{"# the places\n$base=\"$confdir/x\"   # here\nsite{ Environment{modulepath=>\"a:${base}\",bindingsdir=>'b'}\n# one\n" +
			"   environment { 'production':\nenvdir=>'/p' ; ['q','r']: }\n\n\n dynamic_environments{'/e':} }\n",
			"# the places\n$base = \"$confdir/x\"  # here\nsite {\n  Environment { modulepath => \"a:${base}\", bindingsdir => 'b' }\n" +
				"  # one\n  environment { 'production':\n    envdir => '/p'; ['q', 'r']: }\n\n  dynamic_environments { '/e': }\n}\n"},
		{"if $a=='b'{ $environment='c' }\nelsif $d {\n$environment   = $agent_environment\n} else {\n $environment =$e ?{\n'f'=>'g'}\n}" +
			" $h=\n'x';[$i,$j]=[1,2] site{ }",
			"if $a == 'b' { $environment = 'c' }\nelsif $d {\n  $environment = $agent_environment\n} else {\n" +
				"  $environment = $e ? {\n    'f' => 'g' }\n}\n$h =\n  'x';\n[$i, $j] = [1, 2]\nsite {}\n"},
	} {
		var diags diag.List
		out, ok := Puppet("root/environments.pp", []byte(c.src), &diags)
		again, still := Puppet("root/environments.pp", out, &diags)
		if !ok || !still || string(out) != c.want || string(again) != c.want {
			t.Errorf("%s\n got\n%s\nand\n%s\nwant\n%s%v", c.src, out, again, c.want, diags.Sorted())
		}
	}
}

func FuzzPuppet(f *testing.F) {
	f.Add("bindings x { # a\nbind 'a' to [1, # b\n{c=>-$d}] /* e */ when f g { bind 'h' to @(I)\n i\n I\n } }")
	f.Add("bindings x { multibind A, 'b' as 'c' { d => |$e, *$f| { $e.g($f[1]) } } include [h] bind 'q' to S[?? a ~= 'b'] }")
	f.Add("$a = [1]\nsite { Environment { b => \"$c\" } environment { 'd': ; ['e']: f => 1 } }\nif $g { $environment = 'h' } elsif $i { }")
	f.Fuzz(func(t *testing.T, src string) {
		var diags diag.List
		out, ok := Puppet("f", []byte(src), &diags)
		if !ok {
			return
		}
		again, ok := Puppet("f", out, &diags)
		if !ok || string(again) != string(out) {
			t.Errorf("%q is formatted as\n%s\nand again as\n%s%v", src, out, again, diags.Sorted())
		}
	})
}
