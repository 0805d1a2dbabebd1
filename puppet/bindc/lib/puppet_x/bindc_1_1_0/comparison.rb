# frozen_string_literal: true

module ::Puppet::Bindc_1_1_0
  # Looks up keys with and without the snapshot, in addition to the catalog's lookups, and reports
  # differences.
  class Comparison
    # Puppet keeps data providers and their results in one adapter per class, so each of these is
    # separate.
    class With < ::Puppet::Pops::Lookup::LookupAdapter; end
    class Without < ::Puppet::Pops::Lookup::LookupAdapter; end

    def initialize(compile)
      @compile = compile
    end

    # Compares each key once in a catalog. It prints no values, because they may be secret.
    def report(key, value, scope, session)
      return if key == 'lookup_options' || !@compile.first_comparison?(key)

      different = difference(key, value, scope)
      all, differing = @compile.connection.count(different)
      return unless different

      Puppet.warning("bindc: compare: #{key} for #{scope.compiler.node.name} #{different} " \
                     "(#{session.place(key)}); #{differing} of #{all} answers differ so far")
    end

    private

    # Compares the value of a catalog with and without this entry, merges included.
    def difference(key, value, scope)
      theirs = lookup(key, scope, Without)
      if value.equal?(:not_found)
        theirs.equal?(:not_found) ? nil : 'is not in the snapshot, but in the levels below'
      elsif theirs.equal?(:not_found)
        'is in the snapshot, but not in the levels below'
      elsif !same?(lookup(key, scope, With), theirs)
        'is another value in the levels below'
      end
    rescue ::Puppet::DataBinding::LookupError => e
      "cannot be compared: #{e.message}"
    end

    def lookup(key, scope, adapter)
      invocation = ::Puppet::Pops::Lookup::Invocation.new(scope, {}, {}, nil, adapter)
      ::Puppet::Pops::Lookup.lookup(key, nil, :not_found, true, nil, invocation)
    end

    # 1 and 1.0 differ, and so do a string and a Sensitive text.
    def same?(one, other)
      sensitive = ::Puppet::Pops::Types::PSensitiveType::Sensitive
      return one.eql?(other) unless one.is_a?(sensitive) && other.is_a?(sensitive)

      same?(one.unwrap, other.unwrap)
    end
  end
end
