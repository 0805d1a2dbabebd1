# frozen_string_literal: true

require File.expand_path('../../../puppet_x/bindc_1_1_0/connection.rb', __dir__) unless defined?(Puppet::Bindc_1_1_0)

# Answers lookups of Hiera from a snapshot that `bindc build` made. For the `data_hash` of an entry in a hiera.yaml of
# version 5.
#
# Starts `bindq serve` as a child, one for each process (in a puppetserver: for each JRuby), or asks one that listens.
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
  #   `snapshot`, a file or a directory of files ENVIRONMENT.snap, or `socket`, the path of a socket; `command`, the
  #   path of bindq, or an array of that and arguments for serve; `timeout`, seconds that an answer may take; `compare`,
  #   whether answers are compared with the levels below; `entries`, the entries of the compiled hierarchy of Hiera 5
  #   that this one represents. `uri` is `bindc:N` in location N.
  # @param context
  #   Of Puppet.
  # @return
  #   A hash that is empty, and looks a key up when Puppet asks for it.
  dispatch :data_hash do
    param 'Any', :options
    param 'Any', :context
    return_type 'Hash[0, 0]'
  end

  def data_hash(options, context)
    Puppet::Bindc_1_1_0.place(options, context, closure_scope).lazy(context.invocation)
  end
end
