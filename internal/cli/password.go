package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ReadPassword returns the first line of stdin, without the newline. It fails if the line is empty.
func ReadPassword(stdin io.Reader) (string, error) {
	line, err := bufio.NewReader(stdin).ReadString('\n')
	if err != nil && err != io.EOF {
		return "", fmt.Errorf("--password-stdin: %w", err)
	}
	password := strings.TrimRight(line, "\r\n")
	if password == "" {
		return "", errors.New("--password-stdin: expected a password on the first line of standard input, found none")
	}
	return password, nil
}
