# frozen_string_literal: true

require 'json'

# The lower bound of the cost of Puppet's interface: a lookup_key over a hash.
Puppet::Functions.create_function(:'peers::floor_key') do
  dispatch :floor_key do
    param 'Any', :key
    param 'Any', :options
    param 'Any', :context
    return_type 'RichData'
  end

  def floor_key(key, options, context)
    ($peers_floor ||= {})[options['values']] ||= JSON.parse(File.read(options['values']))
    $peers_floor[options['values']].fetch(key) { context.not_found }
  end
end
