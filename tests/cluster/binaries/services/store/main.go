// An S3 store in memory with one bucket, for the artifacts of the workflows of a test cluster.
package main

import (
	"bytes"
	"flag"
	"io"
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

// withLength gives every request the header that the store asks for: Go's server takes it out of an empty body's, and a
// client that sends an empty file in chunks has none.
func withLength(store http.Handler) http.Handler {
	return http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		if request.ContentLength < 0 {
			body, err := io.ReadAll(request.Body)
			if err != nil {
				http.Error(response, err.Error(), http.StatusBadRequest)
				return
			}
			request.Body, request.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		}
		if request.Header.Get("Content-Length") == "" {
			request.Header.Set("Content-Length", strconv.FormatInt(request.ContentLength, 10))
		}
		store.ServeHTTP(response, request)
	})
}
