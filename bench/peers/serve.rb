# The common part of the Ruby peers: a process that makes lookups. It does not measure time. Each
# line of standard input is a command, and the process answers with a line when it is done:
#
#   answers      every key for every node, as JSON: a list of lists of values
#   lookup N     N lookups in an existing request
#   visit N      N requests, each with a lookup of every key
#   glance N     N requests, each with one lookup
#
# The file peers.json in the given directory has the nodes' facts and the keys. with_request yields
# an object with a method lookup(key), which raises an error if a key is not found.

require 'json'

def serve(dir)
  peers = JSON.parse(File.read("#{dir}/peers.json"))
  nodes, keys = peers.values_at('nodes', 'keys')
  with_request(nodes[0]) do |held|
    keys.each { |key| held.lookup(key) }
    puts 'ready'
    $stdout.flush
    while (line = $stdin.gets)
      what, n = line.split
      puts send(what, held, nodes, keys, n.to_i)
      $stdout.flush
    end
  end
end

def answers(_held, nodes, keys, _n)
  JSON.generate(nodes.map { |node| with_request(node) { |r| keys.map { |key| r.lookup(key) } } })
end

def lookup(held, _nodes, keys, n)
  n.times { |i| held.lookup(keys[i % keys.length]) }
  'done'
end

def visit(_held, nodes, keys, n)
  n.times { |i| with_request(nodes[i % nodes.length]) { |r| keys.each { |key| r.lookup(key) } } }
  'done'
end

def glance(_held, nodes, keys, n)
  n.times { |i| with_request(nodes[i % nodes.length]) { |r| r.lookup(keys[i % keys.length]) } }
  'done'
end
