//go:build unix && !purego

package snapshot

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapFile maps the file at path read-only at its exact length, and reads its head with pread. Reading the head
// through the map would read far ahead if the file is not in the page cache, and cost a page fault if it is. A file
// shorter than a header is not mapped.
//
// The map is returned as a string, so that keys and values are substrings of it and lookups copy nothing. map_read.go
// is the version without unsafe; the only other use of unsafe in the project is in load_unsafe.go.
func mapFile(path string) (head, data string, unmap func() error, err error) {
	fd, err := openFile(path)
	if err != nil {
		return "", "", nil, err
	}
	defer unix.Close(fd)
	fail := func(op string, err error) (string, string, func() error, error) {
		return "", "", nil, &os.PathError{Op: op, Path: path, Err: err}
	}
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return fail("stat", err)
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFREG {
		return fail("open", errNoFile)
	}
	if !fits(stat.Size) {
		return fail("open", errTooLarge)
	}
	buf := make([]byte, headBytes)
	n, err := unix.Pread(fd, buf, 0)
	if err != nil {
		return fail("read", err)
	}
	head = unsafe.String(unsafe.SliceData(buf), n)
	if n < headerSize {
		return head, "", nil, nil
	}
	b, err := unix.Mmap(fd, 0, int(stat.Size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return fail("mmap", err)
	}
	unix.Madvise(b, unix.MADV_RANDOM) // turns off read-ahead, which lookups do not need; errors do not matter
	return head, unsafe.String(unsafe.SliceData(b), len(b)), func() error { return unix.Munmap(b) }, nil
}

// isInside reports whether address is inside data, a mapped file.
func isInside(data string, address uintptr) bool {
	return address-uintptr(unsafe.Pointer(unsafe.StringData(data))) < uintptr(len(data))
}

// openFile is a cheaper os.Open, without support for polling. It does not block on a pipe without a writer.
func openFile(path string) (int, error) {
	for {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
		switch err {
		case nil:
			return fd, nil
		case unix.EINTR:
			continue
		}
		return 0, &os.PathError{Op: "open", Path: path, Err: err}
	}
}
