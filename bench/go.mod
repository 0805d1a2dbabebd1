module bindc/bench

go 1.26.0

require (
	go.etcd.io/bbolt v1.5.0
	go.yaml.in/yaml/v4 v4.0.0
)

require golang.org/x/sys v0.45.0 // indirect

replace bindc => ../
