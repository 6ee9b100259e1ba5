// An S3 store in memory with one bucket, for the artifacts of the workflows of a test cluster.
package main

import (
	"flag"
	"log"
	"net/http"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

func main() {
	address := flag.String("address", "127.0.0.1:9000", "address to serve on")
	bucket := flag.String("bucket", "artifacts", "the bucket to make")
	flag.Parse()
	backend := s3mem.New()
	if err := backend.CreateBucket(*bucket); err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe(*address, gofakes3.New(backend).Server()))
}
