package types

import "testing"

func TestQuick(t *testing.T) {
	for _, s := range []string{"Array[String]", "Hash[String,Integer]", "Variant[Integer[1,10], Enum[a,\"b\"]]", "Struct[{a=>Integer, Optional[b]=>String}]", "Pattern[/re/]", "Strng", "Integer[", "Array[Array[0,0]]", "Callable[String,1,2]", "Hash[Integer]", "String[1]", "Float[1,2.5]", "Optional['x']"} {
		ty, err := Parse(s)
		t.Log(s, ty, err)
		if err == nil {
			again, err := Parse(ty.String())
			if err != nil || again.String() != ty.String() {
				t.Error(again, err)
			}
		}
	}
}
