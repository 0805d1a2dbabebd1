package yaml
import ("testing";"os";"path/filepath";"fmt";"bindc/internal/diag")
type diagList = diag.List
func TestZZ(t *testing.T){
 files,_:=filepath.Glob(os.Getenv("ZZ")); ans:=psych(t,files); n,lenient,strict:=0,0,0
 for i,f:=range files { src,_:=os.ReadFile(f); got:=parsed(f,src); if got==ans[i]{continue}
  switch { case ans[i]=="error": lenient++; if os.Getenv("LEN")!="" {fmt.Printf("LENIENT %q\n",src)}
  case got=="error": strict++; fmt.Printf("STRICT %.300q\n   %.200q\n   %v\n",src,ans[i],diagsOf(f,src))
  default: n++; fmt.Printf("VALUE %.300q\n  got %.200q\n want %.200q\n",src,got,ans[i])} }
 fmt.Println("files",len(files),"value",n,"strict",strict,"lenient",lenient)
}
func diagsOf(f string, src []byte) string { var l diagList; Parse(f,src,Options{LastKeyWins:true},&l); s:=l.Sorted(); if len(s)==0{return ""}; return fmt.Sprint(s[0].Pos," ",s[0].Code," ",s[0].Message) }
