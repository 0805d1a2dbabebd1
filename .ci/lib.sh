# Tool versions and steps that .ci/run and .ci/full share.

staticcheck=honnef.co/go/tools/cmd/staticcheck@v0.8.2
govulncheck=golang.org/x/vuln/cmd/govulncheck@v1.8.0
shared=../shared

# Tests write many small files. If there is enough memory, write them to /dev/shm. The name of the directory is fixed
# because a random name would defeat Go's test cache.
if [ "$(df -k --output=avail /dev/shm 2>/dev/null | tail -n 1)" -gt 4000000 ] 2>/dev/null; then
	export TMPDIR=/dev/shm/bindc-tests
	mkdir -p "$TMPDIR"
	chmod 1777 "$TMPDIR" # some tests run as another user
fi

# Only the race detector needs cgo. Without cgo, Go compiles the packages for all other steps once.
export CGO_ENABLED=0

# Go calls "git status" to stamp programs. With its optional lock, the time of .git would change, and Go would not use the
# cached results of tests that read the directory.
export GIT_OPTIONAL_LOCKS=0

# Compilers, linkers and vet collect garbage less often, and no step needs debugging information: this makes compiling a
# quarter faster. -toolexec is for these tools only, so tests run with the usual garbage collection.
export GOFLAGS="${GOFLAGS-} '-toolexec=env GOGC=400' -gcflags=all=-dwarf=false"

bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT

# step NAME prints a heading with the seconds since the start.
step() { printf '\n== %s (%ds)\n' "$*" "$SECONDS"; }

# skip REASON prints that this step was not run, and records the reason for the report of .ci/full.
skip() {
	result="not run: $*"
	echo "$result"
}

# have COMMAND PACKAGE reports whether COMMAND exists, after trying to install Debian's PACKAGE as root.
have() {
	command -v "$1" >/dev/null && return
	if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
		apt-get update -qq && apt-get install -qq -y --no-install-recommends "$2" >/dev/null || true
	fi
	command -v "$1" >/dev/null
}

formatted() {
	local files
	files=$(gofmt -l .)
	[ -z "$files" ] || { printf 'not formatted:\n%s\n' "$files"; return 1; }
}

# programs builds the programs and lets the tests that run them use these. The path depends on the checkout only, because
# a random path would defeat Go's test cache. Some tests run the programs as other users.
programs() {
	PROGRAMS=${TMPDIR:-/tmp}/bindc-programs-$(id -u)-$(pwd | cksum | cut -d ' ' -f 1)
	export PROGRAMS
	mkdir -p -m 0755 "$PROGRAMS"
	go build -ldflags=-w -o "$PROGRAMS/" ./cmd/bindc ./cmd/bindq ./cmd/bindsync
}

# conformance runs the reference cases and the corpora, which only use the command lines of the programs.
conformance() {
	[ -d "$shared/conformance" ] || { skip "there is no $shared"; return; }
	programs
	local bindc=$PROGRAMS/bindc bindq=$PROGRAMS/bindq
	python3 "$shared/conformance/run_cases.py" "$shared/conformance/reference.json" "$bindc" "$bindq"
	python3 "$shared/conformance/run_expressions.py" "$shared/conformance/expressions.json" "$bindc" "$bindq"
	python3 "$shared/conformance/run_cases.py" "$shared/conformance/findings.json" "$bindc" "$bindq"
	python3 "$shared/corpora/run_corpus.py" "$bindc" "$bindq" $(dirname "$shared"/corpora/*/expect.jsonl)
	python3 "$shared/corpora/hiera5/run_hiera5.py" "$bindc" "$bindq" $(dirname "$shared"/corpora/hiera5/*/expect.jsonl)
}

# instructions ARG... counts the instructions of important operations and compares them with bench/instructions.txt.
instructions() {
	if [ "$(go env GOHOSTARCH)" != amd64 ]; then
		skip "the recorded counts are for amd64"
	elif ! have valgrind valgrind; then
		skip "valgrind is missing and cannot be installed"
	else
		(cd bench && go run ./cmd/instructions "$@")
	fi
}

# acceptance ARG... runs the acceptance tests of the Puppet module, which compile catalogs.
acceptance() {
	if have puppet puppet-agent; then
		puppet/acceptance "$@"
	else
		skip "puppet is missing and cannot be installed"
	fi
}
