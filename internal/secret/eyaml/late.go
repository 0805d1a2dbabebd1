package eyaml

import (
	"fmt"
	"sync"
)

// Late decrypts with keys that it reads when a text needs them, like hiera-eyaml in Puppet. If a key cannot be read,
// Late fails for texts that no other key decrypts, and tries to read the key again for the next text. It is safe for
// concurrent use.
type Late struct {
	Files []string // of private keys

	mutex sync.Mutex
	read  map[string]*Keys
}

// Decrypt works like the method of Keys.
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

// key returns the key in a file. A file is read only once.
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
