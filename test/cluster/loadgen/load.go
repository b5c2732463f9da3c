// Sends the requests over all connections at once, and sums up the times of a round.
package main

import (
	"net/url"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

type result struct {
	Requests  int     `json:"requests"`
	Seconds   float64 `json:"seconds"`
	PerSecond float64 `json:"perSecond"`
	// In milliseconds, of answered requests.
	P50        float64        `json:"p50"`
	P99        float64        `json:"p99"`
	Errors     int            `json:"errors"`
	FirstError string         `json:"firstError,omitempty"`
	Statuses   map[string]int `json:"statuses"`
	// The mean length of the bodies of the answers.
	AnswerBytes int64 `json:"answerBytes"`
	// Processor time of the load generator, as a share of the run. Near 1, the generator is what limits the figures.
	Busy float64 `json:"busy"`
	Side *result `json:"side,omitempty"`
}

// What one connection has seen.
type tally struct {
	times      []time.Duration
	statuses   map[int]int
	bytes      int64
	errors     int
	firstError string
}

func newTally() *tally {
	return &tally{statuses: map[int]int{}, times: make([]time.Duration, 0, 1<<10)}
}

func (t *tally) call(c *client, request []byte) {
	began := time.Now()
	status, size, err := c.call(request)
	if err != nil {
		t.errors++
		if t.firstError == "" {
			t.firstError = err.Error()
		}
		return
	}
	t.times = append(t.times, time.Since(began))
	t.statuses[status]++
	t.bytes += size
}

// What one server has answered in one round.
type round struct {
	tallies []*tally
	side    *tally
	took    time.Duration
	used    time.Duration
}

// Sends this many requests over all connections, and adds what it has seen to the round.
func (r *round) send(clients []*client, requests [][]byte, calls int64) {
	var sent atomic.Int64
	began, used := time.Now(), processorTime()
	var wait sync.WaitGroup
	for _, c := range clients {
		seen := newTally()
		r.tallies = append(r.tallies, seen)
		wait.Go(func() {
			for {
				turn := sent.Add(1) - 1
				if turn >= calls {
					return
				}
				seen.call(c, requests[turn%int64(len(requests))])
			}
		})
	}
	wait.Wait()
	r.took += time.Since(began)
	r.used += processorTime() - used
}

func (r *round) result() *result {
	found := summed(r.tallies, r.took)
	found.Busy = r.used.Seconds() / r.took.Seconds()
	if r.side != nil {
		found.Side = summed([]*tally{r.side}, r.took)
	}
	return found
}

func summed(tallies []*tally, took time.Duration) *result {
	found := &result{Seconds: took.Seconds(), Statuses: map[string]int{}}
	var times []time.Duration
	var bytes int64
	for _, seen := range tallies {
		times = append(times, seen.times...)
		bytes += seen.bytes
		found.Errors += seen.errors
		if found.FirstError == "" {
			found.FirstError = seen.firstError
		}
		for status, count := range seen.statuses {
			found.Statuses[strconv.Itoa(status)] += count
		}
	}
	found.Requests = len(times)
	if len(times) > 0 {
		slices.Sort(times)
		found.PerSecond = float64(len(times)) / took.Seconds()
		found.P50, found.P99 = milliseconds(times, 50), milliseconds(times, 99)
		found.AnswerBytes = bytes / int64(len(times))
	}
	return found
}

func milliseconds(sorted []time.Duration, percent int) float64 {
	return float64(sorted[min(len(sorted)-1, len(sorted)*percent/100)]) / float64(time.Millisecond)
}

func processorTime() time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// A second stream of one request at a fixed rate, on a connection of its own. Its clock stops between two turns.
type stream struct {
	client  *client
	request []byte
	every   time.Duration
	// The time until the next request.
	due time.Duration
}

func openStream(address *url.URL, body []byte, every time.Duration) (*stream, error) {
	clients, err := connect(address, 1)
	if err != nil {
		return nil, err
	}
	return &stream{client: clients[0], request: requestsOf(address, [][]byte{body})[0], every: every}, nil
}

// Sends the request at its rate while the work goes on, for the first time at once.
func (s *stream) beside(seen *tally, work func()) {
	ending, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for next := time.Now().Add(s.due); ; {
			wait := time.Until(next)
			if wait <= 0 {
				next = next.Add(s.every)
				seen.call(s.client, s.request)
				continue
			}
			select {
			case <-ending:
				s.due = wait
				return
			case <-time.After(wait):
			}
		}
	}()
	work()
	close(ending)
	<-ended
}
