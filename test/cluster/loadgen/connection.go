// One kept-alive connection, which sends a prepared request with one write and reads the whole answer.
package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// For a server that accepts a request and never answers.
const patience = 30 * time.Second

type client struct {
	address *url.URL
	conn    *tls.Conn
	reader  *bufio.Reader
}

func connect(address *url.URL, count int) ([]*client, error) {
	clients := make([]*client, count)
	for i := range clients {
		clients[i] = &client{address: address}
		if err := clients[i].dial(); err != nil {
			return nil, err
		}
	}
	return clients, nil
}

// The certificate is not verified: the handshake comes before the measurement, and both ends are on one machine.
func (c *client) dial() error {
	conn, err := tls.Dial("tcp", c.address.Host, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		return err
	}
	c.conn, c.reader = conn, bufio.NewReaderSize(conn, 16<<10)
	return nil
}

// Returns the status and the length of the body.
func (c *client) call(request []byte) (status int, size int64, err error) {
	if c.conn == nil {
		if err := c.dial(); err != nil {
			return 0, 0, err
		}
	}
	status, size, err = c.exchange(request)
	if err != nil {
		c.conn.Close()
		c.conn = nil
	}
	return status, size, err
}

func (c *client) exchange(request []byte) (int, int64, error) {
	c.conn.SetDeadline(time.Now().Add(patience))
	if _, err := c.conn.Write(request); err != nil {
		return 0, 0, err
	}
	answer, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return 0, 0, err
	}
	defer answer.Body.Close()
	size, err := io.Copy(io.Discard, answer.Body)
	if err == nil && answer.Close {
		err = fmt.Errorf("the server closes the connection with status %d", answer.StatusCode)
	}
	return answer.StatusCode, size, err
}

// The headers are those that the API server sends.
func requestsOf(address *url.URL, bodies [][]byte) [][]byte {
	requests := make([][]byte, len(bodies))
	for i, body := range bodies {
		var out bytes.Buffer
		fmt.Fprintf(&out, "POST %s HTTP/1.1\r\nHost: %s\r\n", address.RequestURI(), address.Host)
		fmt.Fprintf(&out, "User-Agent: kube-apiserver-admission\r\nContent-Length: %d\r\n", len(body))
		out.WriteString("Accept: application/json, */*\r\nContent-Type: application/json\r\nAccept-Encoding: gzip\r\n\r\n")
		out.Write(body)
		requests[i] = out.Bytes()
	}
	return requests
}
