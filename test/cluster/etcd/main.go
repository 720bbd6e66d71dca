// Package main is etcd itself: `go install` refuses its module, so this one line of main gives the tests a pinned build.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() {
	etcdmain.Main(os.Args)
}
