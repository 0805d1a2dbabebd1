package eyaml

import (
	"fmt"
	"sync"
)

// Late decrypts strings like Keys, but reads the private keys only when a string needs them, as
// hiera-eyaml does in Puppet. A key that cannot be read is an error only for strings that no other
// key can decrypt. Late tries to read it again for the next string. It is safe for concurrent use.
type Late struct {
	Files []string // PEM files with private keys

	mutex sync.Mutex
	read  map[string]*Keys
}

// Decrypt is like Keys.Decrypt.
func (l *Late) Decrypt(text string) (string, error) {
	keys, unread := l.keys()
	plain, err := keys.Decrypt(text)
	if err != nil && unread != nil {
		return "", fmt.Errorf("%w; %w", err, unread)
	}
	return plain, err
}

// keys returns all keys that can be read. unread is the error for the last key that cannot be read.
func (l *Late) keys() (all *Keys, unread error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	all = &Keys{}
	for _, file := range l.Files {
		keys, err := l.key(file)
		if err != nil {
			unread = err
			continue
		}
		all.keys = append(all.keys, keys.keys...)
	}
	return all, unread
}

// key returns the key in a file. It reads the file only once.
func (l *Late) key(file string) (*Keys, error) {
	if keys := l.read[file]; keys != nil {
		return keys, nil
	}
	keys, err := Read([]string{file})
	if err != nil {
		return nil, err
	}
	if l.read == nil {
		l.read = map[string]*Keys{}
	}
	l.read[file] = keys
	return keys, nil
}
