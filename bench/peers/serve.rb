# What the Ruby peers share: a process that answers lookups, and times nothing itself. Lines of standard input say what to do,
# and each is answered by a line when it is done:
#
#   answers      every key for every node, as JSON: a list of lists of values
#   lookup N     N lookups, of a request that was made before
#   visit N      N requests, each with a lookup of every key
#   glance N     N requests, each with one lookup
#
# The nodes' facts and the keys are in the file peers.json of the directory given. with_request yields something with a
# method lookup(key) that raises an error where a key is not found.

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
