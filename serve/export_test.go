package serve

import "time"

// The limits, for tests.
const (
	MaxQuestion    = maxQuestion
	MaxSessions    = maxSessions
	MaxConnections = maxConnections
)

// SetFrameTime has clients be slow sooner.
func (s *Server) SetFrameTime(d time.Duration) { s.frameTime = d }
