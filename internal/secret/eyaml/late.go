package eyaml

import (
	"fmt"
	"sync"
)

// Late decrypts strings with keys that it reads when a string needs them, like hiera-eyaml in Puppet. A key that cannot
// be read is only an error for strings that no other key decrypts. Late tries to read it again for the next text. Late
// is safe for concurrent use.
type Late struct {
	Files []string // files of private keys

	mutex sync.Mutex
	read  map[string]*Keys
}

// Decrypt decrypts text as Keys.Decrypt does.
func (l *Late) Decrypt(text string) (string, error) {
	keys, unread := l.keys()
	plain, err := keys.Decrypt(text)
	if err != nil && unread != nil {
		return "", fmt.Errorf("%w; %w", err, unread)
	}
	return plain, err
}

// keys returns the keys that can be read, and the error of the last one that cannot.
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

// key returns the key in a file, which is read once.
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
