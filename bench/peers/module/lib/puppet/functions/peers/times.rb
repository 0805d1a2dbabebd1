# frozen_string_literal: true

require 'json'

# Looks keys up one by one, like the function lookup. Returns the values, and the time of each in
# microseconds.
Puppet::Functions.create_function(:'peers::times') do
  dispatch :times do
    param 'Array[String]', :keys
    optional_param 'Optional[String]', :merge
    return_type 'String'
  end

  def times(keys, merge = nil)
    invocation = Puppet::Pops::Lookup::Invocation.new(closure_scope, {}, {}, nil)
    values = []
    took = keys.map do |key|
      start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      value = look(key, merge, invocation)
      microseconds = (Process.clock_gettime(Process::CLOCK_MONOTONIC) - start) * 1e6
      values << (value.equal?(:none) ? { 'none' => true } : value)
      microseconds.round(2)
    end
    JSON.generate('took' => took, 'values' => values)
  end

  private

  def look(key, merge, invocation)
    Puppet::Pops::Lookup.lookup(key, nil, :none, true, merge, invocation)
  rescue Puppet::Error
    { 'error' => true }
  end
end
