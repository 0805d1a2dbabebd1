# frozen_string_literal: true

require File.expand_path('../../../puppet_x/bindc_1_1_0/connection.rb', __dir__) unless defined?(Puppet::Bindc_1_1_0)

# A `data_hash` function for a version 5 hiera.yaml. It looks up keys in a snapshot that `bindc build` wrote.
#
# It starts `bindq serve` as a child, one for each process (in puppetserver: one for each JRuby), or connects to a
# server that already listens on a socket.
#
# @example hiera.yaml of an environment
#   version: 5
#   hierarchy:
#     - name: bindc
#       data_hash: bindc::data_hash
#       uris: ['bindc:0', 'bindc:1']
#       options:
#         snapshot: /var/lib/bindc/%{::environment}.snap
Puppet::Functions.create_function(:'bindc::data_hash') do
  # @param options
  #   `snapshot`: a snapshot, or a directory with a file ENVIRONMENT.snap for each environment.
  #   `socket`: the socket of a running server, instead of `snapshot`.
  #   `command`: the path of bindq, or an array of the path and arguments for `bindq serve`.
  #   `timeout`: the time in seconds that an answer may take.
  #   `compare`: true compares each value with that of the lower levels.
  #   `entries`: the entries of the compiled Hiera 5 hierarchy that this entry represents.
  #   `uri`: `bindc:N` for location N.
  # @param context
  #   The lookup context that Puppet passes.
  # @return
  #   An empty hash that looks up each key when Puppet reads it.
  dispatch :data_hash do
    param 'Any', :options
    param 'Any', :context
    return_type 'Hash[0, 0]'
  end

  def data_hash(options, context)
    Puppet::Bindc_1_1_0.place(options, context, closure_scope).lazy(context.invocation)
  end
end
