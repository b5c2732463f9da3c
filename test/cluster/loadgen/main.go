// A load generator for HTTPS servers that runs beside the server and costs little: it sends prepared requests over
// kept-alive connections of HTTP/1.1, and prints what it measured as JSON. Several servers take turns, many times in each
// round, so that other load on the machine affects all of them alike.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/url"
	"os"
	"time"
)

// The flags of the program.
type options struct {
	addresses   []*url.URL
	connections int
	calls       int64
	slices      int64
	rounds      int
	warmUp      int64
	bodies      [][]byte
	sideBody    []byte
	sideEvery   time.Duration
}

// A flag that may be given several times.
type list []string

func (l *list) String() string { return fmt.Sprint(*l) }

func (l *list) Set(value string) error {
	*l = append(*l, value)
	return nil
}

func main() {
	given, err := parseFlags()
	if err == nil {
		err = run(given)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func parseFlags() (options, error) {
	var given options
	var addresses, bodies list
	flag.Var(&addresses, "url", "address of a server, with https and the path; several take turns")
	flag.IntVar(&given.connections, "connections", 1, "number of connections; each has one request under way")
	flag.Int64Var(&given.calls, "calls", 0, "number of requests to measure in each round, for each server")
	flag.Int64Var(&given.slices, "slices", 1, "how often servers take turns in a round")
	flag.IntVar(&given.rounds, "rounds", 1, "number of rounds")
	flag.Int64Var(&given.warmUp, "warm-up", 0, "number of requests to each server before the first round")
	flag.Var(&bodies, "body", "file with a body; several files take turns")
	sideBody := flag.String("side-body", "", "file with the body of a second stream, to the first server during its turns")
	flag.DurationVar(&given.sideEvery, "side-every", 100*time.Millisecond, "time between two requests of the second stream")
	flag.Parse()
	if given.calls < given.slices || given.slices < 1 || given.connections < 1 || len(bodies) == 0 || len(addresses) == 0 {
		return given, fmt.Errorf("usage: loadgen -url URL -body FILE -calls N [-connections N]")
	}
	for _, text := range addresses {
		address, err := url.Parse(text)
		if err != nil || address.Scheme != "https" {
			return given, fmt.Errorf("-url must be an address with https: %s", text)
		}
		given.addresses = append(given.addresses, address)
	}
	for _, path := range bodies {
		body, err := os.ReadFile(path)
		if err != nil {
			return given, err
		}
		given.bodies = append(given.bodies, body)
	}
	var err error
	if *sideBody != "" {
		given.sideBody, err = os.ReadFile(*sideBody)
	}
	return given, err
}

// One server, with the connections to it.
type target struct {
	clients  []*client
	requests [][]byte
	// Missing for all but the first server.
	side *stream
}

func targetsOf(given options) ([]*target, error) {
	var targets []*target
	for index, address := range given.addresses {
		clients, err := connect(address, given.connections)
		if err != nil {
			return nil, err
		}
		next := &target{clients: clients, requests: requestsOf(address, given.bodies)}
		if index == 0 && given.sideBody != nil {
			if next.side, err = openStream(address, given.sideBody, given.sideEvery); err != nil {
				return nil, err
			}
		}
		targets = append(targets, next)
	}
	return targets, nil
}

func (t *target) turn(seen *round, calls int64) {
	send := func() { seen.send(t.clients, t.requests, calls) }
	if t.side == nil {
		send()
		return
	}
	if seen.side == nil {
		seen.side = newTally()
	}
	t.side.beside(seen.side, send)
}

// Prints the results of each server for each round.
func run(given options) error {
	targets, err := targetsOf(given)
	if err != nil {
		return err
	}
	for _, each := range targets {
		if given.warmUp == 0 {
			break
		}
		warm := &round{}
		each.turn(warm, given.warmUp)
		if found := warm.result(); found.Errors > 0 {
			return fmt.Errorf("warming up failed: %s", found.FirstError)
		}
	}
	printed := [][]*result{}
	for range given.rounds {
		rounds := make([]round, len(targets))
		for range given.slices {
			for i, each := range targets {
				each.turn(&rounds[i], given.calls/given.slices)
			}
		}
		results := make([]*result, len(targets))
		for i := range rounds {
			results[i] = rounds[i].result()
		}
		printed = append(printed, results)
	}
	return json.NewEncoder(os.Stdout).Encode(printed)
}
