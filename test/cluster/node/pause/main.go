// The only process of a sandbox container: it holds the namespaces of a Pod, does nothing, and ends with a signal.
//
// Under the name echo it prints its arguments, as the image of the recipe for Jobs does.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

func main() {
	if filepath.Base(os.Args[0]) == "echo" {
		fmt.Println(strings.Join(os.Args[1:], " "))
		return
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGINT, syscall.SIGTERM)
	<-ended
}
