// Command numbers calls the Telephone Number Reference Service for one number, a batch of numbers, and all pages of a
// search.
//
// Usage: TNR_URL=http://127.0.0.1:3000 TNR_KEY=tnr_live_... go run .
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	attempts = 4
	timeout  = 10 * time.Second
	// A daily quota may reset hours from now; let the caller decide what to do.
	maxWait = time.Minute
)

// FormatResult has the fields of a format result that this example reads.
type FormatResult struct {
	Valid   bool `json:"valid"`
	Formats struct {
		E164 string `json:"e164"`
	} `json:"formats"`
	Location struct {
		RateCenter  string `json:"rateCenter"`
		State       string `json:"state"`
		CountryName string `json:"countryName"`
	} `json:"location"`
	// Carrier is the holder as assigned; the number may have been ported since.
	Carrier struct {
		Name string `json:"name"`
	} `json:"carrier"`
}

// BatchItem is one number in a batch, as sent, with a result or an error.
type BatchItem struct {
	TN     string        `json:"tn"`
	Result *FormatResult `json:"result"`
	Error  *APIError     `json:"error"`
}

// Exchange is one NPA-NXX found by a search.
type Exchange struct {
	NPA         string `json:"npa"`
	NXX         string `json:"nxx"`
	CompanyName string `json:"company_name"`
}

// APIError is an error response from the service. Name is stable, such as "not_found".
type APIError struct {
	Status  int    `json:"-"`
	Name    string `json:"error"`
	Message string `json:"message"`
}

func (apiError *APIError) Error() string {
	return fmt.Sprintf("request failed: %d %s: %s", apiError.Status, apiError.Name, apiError.Message)
}

// Client sends requests to one service with one key.
type Client struct {
	URL  string
	Key  string
	HTTP http.Client
}

// Format validates and formats a phone number.
func (client *Client) Format(ctx context.Context, number string, options url.Values) (FormatResult, error) {
	var result FormatResult
	path := "/v1/format/" + url.PathEscape(number)
	_, err := client.send(ctx, http.MethodGet, client.buildURL(path, options), nil, &result)
	return result, err
}

// FormatMany validates and formats up to 1,000 phone numbers, in order.
func (client *Client) FormatMany(ctx context.Context, numbers []string, options url.Values) ([]BatchItem, error) {
	body, err := json.Marshal(numbers)
	if err != nil {
		return nil, err
	}
	var batch struct {
		Results []BatchItem `json:"results"`
	}
	_, err = client.send(ctx, http.MethodPost, client.buildURL("/v1/format", options), body, &batch)
	return batch.Results, err
}

// Search calls visit for each exchange that matches all filters, page by page.
func (client *Client) Search(ctx context.Context, filters url.Values, visit func(Exchange)) error {
	for pageURL := client.buildURL("/v1/search", filters); pageURL != ""; {
		var page struct {
			Results []Exchange `json:"results"`
		}
		header, err := client.send(ctx, http.MethodGet, pageURL, nil, &page)
		if err != nil {
			return err
		}
		for _, exchange := range page.Results {
			visit(exchange)
		}
		if pageURL, err = nextPage(pageURL, header); err != nil {
			return err
		}
	}
	return nil
}

func (client *Client) buildURL(path string, query url.Values) string {
	return strings.TrimSuffix(client.URL, "/") + path + "?" + query.Encode()
}

// send reads a successful response's JSON into result. It waits and retries if the service says so.
func (client *Client) send(
	ctx context.Context, method, requestURL string, body []byte, result any,
) (http.Header, error) {
	for attempt := 1; ; attempt++ {
		request, err := http.NewRequestWithContext(ctx, method, requestURL, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		request.Header.Set("Authorization", "Bearer "+client.Key)
		if body != nil {
			request.Header.Set("Content-Type", "application/json")
		}
		response, err := client.HTTP.Do(request)
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil {
			return nil, err
		}
		if response.StatusCode == http.StatusOK {
			return response.Header, json.Unmarshal(content, result)
		}
		wait, retryable := timeToWait(response)
		if !retryable || attempt == attempts {
			return nil, parseError(response, content)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// timeToWait returns the wait before a retry, and whether a retry can help.
func timeToWait(response *http.Response) (time.Duration, bool) {
	switch response.StatusCode {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		seconds, err := strconv.Atoi(response.Header.Get("Retry-After"))
		wait := time.Duration(seconds) * time.Second
		return wait, err == nil && 0 <= wait && wait <= maxWait
	default:
		return 0, false
	}
}

// parseError parses an error response. A proxy may have sent something other than JSON.
func parseError(response *http.Response, content []byte) error {
	apiError := APIError{Status: response.StatusCode}
	if json.Unmarshal(content, &apiError) != nil || apiError.Name == "" {
		apiError.Name, apiError.Message = "unknown", http.StatusText(response.StatusCode)
	}
	return &apiError
}

var nextLink = regexp.MustCompile(`<([^>]*)>; rel="next"`)

// nextPage returns the URL in the Link header with rel="next", or "" on the last page.
func nextPage(pageURL string, header http.Header) (string, error) {
	next := nextLink.FindStringSubmatch(header.Get("Link"))
	if next == nil {
		return "", nil
	}
	base, err := url.Parse(pageURL)
	if err != nil {
		return "", err
	}
	page, err := base.Parse(next[1])
	if err != nil {
		return "", err
	}
	return page.String(), nil
}

// formatLine formats a result on one line.
func formatLine(result FormatResult) string {
	if !result.Valid {
		return "not a valid number"
	}
	location := result.Location
	parts := []string{result.Formats.E164, join(", ", location.RateCenter, location.State, location.CountryName)}
	if result.Carrier.Name != "" {
		parts = append(parts, "assigned to "+result.Carrier.Name)
	}
	return join("; ", parts...)
}

// join joins the non-empty parts.
func join(separator string, parts ...string) string {
	var nonEmpty []string
	for _, part := range parts {
		if part != "" {
			nonEmpty = append(nonEmpty, part)
		}
	}
	return strings.Join(nonEmpty, separator)
}

func run(ctx context.Context, client *Client) error {
	number := "(305) 234-5678"
	result, err := client.Format(ctx, number, nil)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %s\n", number, formatLine(result))

	numbers := []string{"+44 20 7946 0958", "no number", "", "212-397-5678"}
	items, err := client.FormatMany(ctx, numbers, url.Values{"defaultCountry": {"US"}})
	if err != nil {
		return err
	}
	for _, item := range items {
		if item.Result != nil {
			fmt.Printf("%s: %s\n", item.TN, formatLine(*item.Result))
		} else {
			fmt.Printf("%s: %s\n", item.TN, item.Error.Message)
		}
	}

	count := 0
	filters := url.Values{"q": {"wireless"}, "state": {"NY"}, "limit": {"4"}}
	err = client.Search(ctx, filters, func(exchange Exchange) {
		fmt.Printf("%s-%s: %s\n", exchange.NPA, exchange.NXX, exchange.CompanyName)
		count++
	})
	if err != nil {
		return err
	}
	fmt.Printf("%d exchanges\n", count)
	return nil
}

func main() {
	client := &Client{
		URL:  os.Getenv("TNR_URL"),
		Key:  os.Getenv("TNR_KEY"),
		HTTP: http.Client{Timeout: timeout},
	}
	if err := run(context.Background(), client); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
