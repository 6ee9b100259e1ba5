// An S3 store in memory with one bucket, for the artifacts of the workflows of a test cluster.
package main

import (
	"flag"
	"log"
	"net/http"
	"strconv"

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
	log.Fatal(http.ListenAndServe(*address, withLength(gofakes3.New(backend).Server())))
}

// withLength puts back the length of an empty body, which Go's server takes out of the headers and the store asks for.
func withLength(store http.Handler) http.Handler {
	return http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		if request.Header.Get("Content-Length") == "" && request.ContentLength >= 0 {
			request.Header.Set("Content-Length", strconv.FormatInt(request.ContentLength, 10))
		}
		store.ServeHTTP(response, request)
	})
}
