# Hiera 3 in a process: ruby hiera3.rb DIR
require 'hiera'
require_relative 'serve'

Request = Struct.new(:hiera, :facts) do
  def lookup(key)
    value = hiera.lookup(key, nil, facts)
    raise "#{key} is not found" if value.nil?
    value
  end
end

$hiera = Hiera.new(config: "#{ARGV[0]}/hiera.yaml")
Hiera.logger = 'noop'

def with_request(facts)
  yield Request.new($hiera, facts)
end

serve(ARGV[0])
