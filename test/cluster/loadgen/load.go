// Sends the requests over all connections at once, and sums up the times.
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

// Sends this many requests, or, with 0, requests for this time.
func send(clients []*client, requests [][]byte, calls int64, duration time.Duration) *result {
	var sent atomic.Int64
	tallies := make([]*tally, len(clients))
	began, used := time.Now(), processorTime()
	var wait sync.WaitGroup
	for i, c := range clients {
		seen := &tally{statuses: map[int]int{}, times: make([]time.Duration, 0, 1<<14)}
		tallies[i] = seen
		wait.Go(func() {
			for {
				turn := sent.Add(1) - 1
				if (calls > 0 && turn >= calls) || (duration > 0 && time.Since(began) >= duration) {
					return
				}
				seen.call(c, requests[turn%int64(len(requests))])
			}
		})
	}
	wait.Wait()
	took := time.Since(began)
	found := summed(tallies, took)
	found.Busy = (processorTime() - used).Seconds() / took.Seconds()
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

// A second stream of one request at a fixed rate.
type stream struct {
	ending chan struct{}
	ended  chan *result
}

func startStream(address *url.URL, body []byte, every time.Duration) (*stream, error) {
	clients, err := connect(address, 1)
	if err != nil {
		return nil, err
	}
	request := requestsOf(address, [][]byte{body})[0]
	side := &stream{ending: make(chan struct{}), ended: make(chan *result)}
	go func() {
		began, seen := time.Now(), &tally{statuses: map[int]int{}}
		ticks := time.NewTicker(every)
		defer ticks.Stop()
		for {
			select {
			case <-side.ending:
				side.ended <- summed([]*tally{seen}, time.Since(began))
				return
			case <-ticks.C:
				seen.call(clients[0], request)
			}
		}
	}()
	return side, nil
}

func (s *stream) stop() *result {
	close(s.ending)
	return <-s.ended
}
