module example.com/numbers

go 1.19
