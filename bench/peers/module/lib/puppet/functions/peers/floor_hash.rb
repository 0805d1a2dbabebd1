# frozen_string_literal: true

require 'json'

# The lower bound of the cost of Puppet's interface: a data_hash that returns a hash.
Puppet::Functions.create_function(:'peers::floor_hash') do
  dispatch :floor_hash do
    param 'Any', :options
    param 'Any', :context
    return_type 'Hash[RichDataKey, RichData]'
  end

  def floor_hash(options, _context)
    values = ($peers_floor ||= {})[options['values']] ||= JSON.parse(File.read(options['values']))
    Hash.new { |hash, key| hash[key] = values[key] if values.key?(key) }
  end
end
