// A load generator for HTTPS servers that runs beside the server and costs little: it sends prepared requests over
// kept-alive connections of HTTP/1.1, and prints what it measured as JSON.
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
	address     *url.URL
	connections int
	calls       int64
	duration    time.Duration
	warmUp      int64
	bodies      [][]byte
	sideBody    []byte
	sideEvery   time.Duration
}

// A flag that may be given several times.
type paths []string

func (p *paths) String() string { return fmt.Sprint(*p) }

func (p *paths) Set(path string) error {
	*p = append(*p, path)
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
	var bodies paths
	address := flag.String("url", "", "address of the server, with https and the path")
	flag.IntVar(&given.connections, "connections", 1, "number of connections; each has one request under way")
	flag.Int64Var(&given.calls, "calls", 0, "number of requests to measure; 0 means that -duration ends the run")
	flag.DurationVar(&given.duration, "duration", 0, "how long to send requests; 0 means that -calls ends the run")
	flag.Int64Var(&given.warmUp, "warm-up", 0, "number of requests before the measured ones")
	flag.Var(&bodies, "body", "file with a body; several files take turns")
	sideBody := flag.String("side-body", "", "file with the body of a second stream, on a connection of its own")
	flag.DurationVar(&given.sideEvery, "side-every", 100*time.Millisecond, "time between two requests of the second stream")
	flag.Parse()
	if (given.calls > 0) == (given.duration > 0) || given.connections < 1 || len(bodies) == 0 {
		return given, fmt.Errorf("usage: loadgen -url URL -body FILE -calls N | -duration TIME [-connections N]")
	}
	var err error
	if given.address, err = url.Parse(*address); err != nil || given.address.Scheme != "https" {
		return given, fmt.Errorf("-url must be an address with https: %s", *address)
	}
	for _, path := range bodies {
		body, err := os.ReadFile(path)
		if err != nil {
			return given, err
		}
		given.bodies = append(given.bodies, body)
	}
	if *sideBody != "" {
		given.sideBody, err = os.ReadFile(*sideBody)
	}
	return given, err
}

func run(given options) error {
	clients, err := connect(given.address, given.connections)
	if err != nil {
		return err
	}
	requests := requestsOf(given.address, given.bodies)
	if given.warmUp > 0 {
		if warm := send(clients, requests, given.warmUp, 0); warm.Errors > 0 {
			return fmt.Errorf("warming up failed: %s", warm.FirstError)
		}
	}
	var side *stream
	if given.sideBody != nil {
		side, err = startStream(given.address, given.sideBody, given.sideEvery)
		if err != nil {
			return err
		}
	}
	found := send(clients, requests, given.calls, given.duration)
	if side != nil {
		found.Side = side.stop()
	}
	return json.NewEncoder(os.Stdout).Encode(found)
}
