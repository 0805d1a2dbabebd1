package ship_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"bindc/ship"
)

// A server polls a source for new snapshots. It activates one only if the checks accept it.
func ExamplePull() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := ship.OpenStore(filepath.Join(dir, "store"))
	if err != nil {
		log.Fatal(err)
	}
	source := ship.File{Path: filepath.Join(dir, "built.snap")}
	release := func(content string) { // replaces the file in one step, as File requires
		next := filepath.Join(dir, "next")
		if err := os.WriteFile(next, []byte(content), 0o644); err != nil {
			log.Fatal(err)
		}
		if err := os.Rename(next, source.Path); err != nil {
			log.Fatal(err)
		}
	}
	checks := ship.Checks{Inspect: func(path string) (sensitive bool, err error) {
		if content, err := os.ReadFile(path); err != nil || len(content) == 0 {
			return false, errors.Join(errors.New("it is empty"), err)
		}
		return false, nil
	}}
	pull := ship.Pull{Store: store, Name: "production", Source: source, Checks: checks, MaxBytes: 1 << 30,
		Now: time.Now}

	for _, content := range []string{"a snapshot", ""} {
		release(content)
		result, err := pull.Run(context.Background())
		fmt.Printf("activated: %t, refused: %q\n", result.Activated, ship.ReasonOf(err))
		active, err := store.Active("production")
		if err != nil {
			log.Fatal(err)
		}
		content, err := os.ReadFile(store.Path(active))
		fmt.Printf("active: %q, %v\n", content, err)
	}
	// Output:
	// activated: true, refused: ""
	// active: "a snapshot", <nil>
	// activated: false, refused: "content"
	// active: "a snapshot", <nil>
}
