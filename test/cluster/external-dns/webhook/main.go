// Package main serves the webhook of external-dns in front of its provider in memory: `webhook ADDRESS ZONE,…`.
package main

import (
	"os"
	"strings"
	"time"

	"sigs.k8s.io/external-dns/provider/inmemory"
	"sigs.k8s.io/external-dns/provider/webhook/api"
)

func main() {
	zones := strings.Split(os.Args[2], ",")
	provider := inmemory.NewInMemoryProvider(inmemory.InMemoryInitZones(zones))
	api.StartHTTPApi(provider, nil, 10*time.Second, 10*time.Second, os.Args[1])
}
